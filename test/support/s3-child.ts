import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { clientFile } from "#test/support/clients.ts";

// s3rver in a process of its own: a folder and a bucket are its arguments, and it writes its port. By itself it answers a
// PUT before the file is written, and the next GET is empty: every S3 store that we know of gives back what it has taken.

type S3Object = {
  bucket: string;
  key: string;
  content: Readable | Buffer;
  metadata: Record<string, string>;
};
type FileStore = {
  getResourcePath(bucket: string, key: string, resource: "object"): string;
  putMetadata(bucket: string, key: string, metadata: object, md5: string): Promise<void>;
  putObject(object: S3Object): Promise<{ size: number; md5: string }>;
};
type Server = { store: FileStore; run(): Promise<{ port: number }> };

const { default: S3rver } = (await import(clientFile("node_modules/s3rver"))) as {
  default: new (options: object) => Server;
};
const [directory, name] = process.argv.slice(2);
const server = new S3rver({
  directory,
  configureBuckets: [{ name, configs: [] }],
  address: "127.0.0.1",
  port: 0,
  silent: true,
});
const { store } = server;
store.putObject = async ({ bucket, key, content, metadata }) => {
  const body = Buffer.isBuffer(content) ? content : Buffer.concat(await content.toArray());
  const md5 = Bun.CryptoHasher.hash("md5", body, "hex");
  const path = store.getResourcePath(bucket, key, "object");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, body);
  await store.putMetadata(bucket, key, metadata, md5);
  return { size: body.length, md5 };
};
process.stdout.write(`${(await server.run()).port}\n`);
