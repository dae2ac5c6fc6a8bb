import { crc32, deflateRawSync } from "node:zlib";

const packedFrom = 10_000;

/** A zip file of these texts; long ones are compressed. */
export function zipOf(files: Readonly<Record<string, string>>): Uint8Array {
  const zip = startZip();
  const parts = Object.entries(files).map(([name, text]) => zip.member(name, Buffer.from(text)));
  return new Uint8Array(Buffer.concat([...parts, zip.end()]));
}

/** The pieces of a zip file, one after the other. `claim`: what the directory says of a member beside the truth. */
export function startZip() {
  const directory: Buffer[] = [];
  let offset = 0;
  return {
    member(
      name: string,
      body: Buffer,
      claim: { size?: number; checksum?: number; level?: number } = {},
    ): Buffer {
      const path = Buffer.from(name);
      const isPacked = body.length >= packedFrom;
      const packed = isPacked ? deflateRawSync(body, { level: claim.level ?? 6 }) : body;
      const common = Buffer.alloc(26);
      common.writeUInt16LE(20, 0); // Version needed; no flags, no time.
      common.writeUInt16LE(isPacked ? 8 : 0, 4);
      common.writeUInt32LE(claim.checksum ?? crc32(body), 10);
      common.writeUInt32LE(packed.length, 14);
      common.writeUInt32LE(claim.size ?? body.length, 18);
      common.writeUInt16LE(path.length, 22);
      const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, path, packed]);
      const place = Buffer.alloc(14);
      place.writeUInt32LE(offset, 10);
      const version = Buffer.from([20, 0]);
      directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), version, common, place, path]));
      offset += local.length;
      return local;
    },
    end(): Buffer {
      const entries = Buffer.concat(directory);
      const end = Buffer.alloc(18);
      end.writeUInt16LE(directory.length, 4);
      end.writeUInt16LE(directory.length, 6);
      end.writeUInt32LE(entries.length, 8);
      end.writeUInt32LE(offset, 12);
      return Buffer.concat([entries, Buffer.from("PK\u0005\u0006"), end]);
    },
  };
}
