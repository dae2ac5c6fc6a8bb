import { crc32, deflateRawSync } from "node:zlib";

const packedFrom = 10_000;

/** A zip file of these texts; long ones are compressed. */
export function zipOf(files: Readonly<Record<string, string>>): Uint8Array {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [path, body] = [Buffer.from(name), Buffer.from(text)];
    const isPacked = body.length >= packedFrom;
    const packed = isPacked ? deflateRawSync(body) : body;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0); // Version needed; no flags, no time.
    common.writeUInt16LE(isPacked ? 8 : 0, 4);
    common.writeUInt32LE(crc32(body), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(body.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, path, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const version = Buffer.from([20, 0]);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), version, common, place, path]));
    parts.push(local);
    offset += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(entries.length, 8);
  end.writeUInt32LE(offset, 12);
  return new Uint8Array(Buffer.concat([...parts, entries, Buffer.from("PK\u0005\u0006"), end]));
}
