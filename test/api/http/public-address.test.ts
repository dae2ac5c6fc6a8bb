import { expect, test } from "bun:test";
import { isPublicAddress } from "#api/http/resolve.ts";

test.each([
  ["those of hosts", ["93.184.216.34", "1.1.1.1", "2606:2800:220:1::1", "2a00::1"]],
  ["neighbours of private ones", ["172.15.255.255", "172.32.0.1", "192.167.255.255"]],
  ["neighbours of shared and multicast ones", ["100.63.255.255", "223.255.255.255"]],
  ["in IPv6", ["::ffff:93.184.216.34", "::ffff:5db8:d822", "64:ff9b::5db8:d822"]],
])("public addresses: %s", (_, addresses) => {
  expect(addresses.filter((address) => !isPublicAddress(address))).toEqual([]);
});

test.each([
  ["loopback", ["127.0.0.1", "127.255.255.255", "::1", "0.0.0.0", "::"]],
  ["private", ["10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"]],
  ["private of IPv6", ["fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0"]],
  ["link-local and reserved", ["169.254.169.254", "240.0.0.1", "255.255.255.255"]],
  ["of tests and examples", ["198.18.0.1", "192.0.2.1", "203.0.113.9", "2001:db8::1"]],
  ["multicast", ["224.0.0.1", "ff02::1"]],
  ["translated", ["2002:7f00:1::", "2001::1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1"]],
  ["mapped", ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a9fe:a9fe"]],
  ["mapped in other forms", ["0:0:0:0:0:ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1"]],
  ["names", ["", "localhost", "example.org"]],
  ["other forms", ["127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "[::1]", "1.2.3.4.5"]],
  ["with a space", ["93.184.216.34 "]],
])("no public addresses: %s", (_, addresses) => {
  expect(addresses.filter(isPublicAddress)).toEqual([]);
});
