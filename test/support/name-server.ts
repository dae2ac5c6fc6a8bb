import { createSocket } from "node:dgram";
import { once } from "node:events";

const A = 1;
const TXT = 16;

/** What a name leads to: addresses, one after another for each look-up when there are several lists, and texts. */
export type Named = { addresses?: string[][]; texts?: string[]; fails?: true | number };

/** A real name server on this machine. Names that it does not know do not exist. */
export async function aNameServer() {
  const names: Record<string, Named> = {};
  const socket = createSocket("udp4");
  /** Every question, as "1 kitchen.example" for an address. */
  const asked: string[] = [];
  const lookUps = new WeakMap<Named, number>();
  socket.on("message", (message, sender) => {
    const { name, type, end } = questionIn(message);
    asked.push(`${type} ${name}`);
    const known = names[name];
    const data = type === TXT ? (known?.texts ?? []).map(asText) : [];
    if (type === A && known?.addresses !== undefined) {
      const before = lookUps.get(known) ?? 0;
      lookUps.set(known, before + 1);
      const list = known.addresses[Math.min(before, known.addresses.length - 1)] ?? [];
      data.push(...list.map((address) => Buffer.from(address.split(".").map(Number))));
    }
    // `fails`: every question, or those of one type (28 for AAAA).
    const fails = known !== undefined && failsFor(known, type);
    const code = fails ? 2 : known === undefined ? 3 : 0;
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(data.length, 6);
    const rows = data.map((one) => {
      const row = Buffer.alloc(12);
      row.writeUInt16BE(0xc00c, 0); // The name of the question.
      row.writeUInt16BE(type, 2);
      row.writeUInt16BE(1, 4);
      row.writeUInt16BE(one.length, 10);
      return Buffer.concat([row, one]);
    });
    const answer = Buffer.concat([head, message.subarray(12, end), ...rows]);
    socket.send(answer, sender.port, sender.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    names,
    asked,
    address: `127.0.0.1:${socket.address().port}`,
    close: () => socket.close(),
  };
}

const failsFor = ({ fails }: Named, type: number) => fails === true || fails === type;

/** The one question of a message, and where it ends. */
function questionIn(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = message[at] ?? 0; size > 0; size = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + size));
    at += size + 1;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

const asText = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
};
