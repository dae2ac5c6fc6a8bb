import { join } from "node:path";
import { aFolder } from "./at-file-top.ts";
import type { S3Access } from "#site/delivery/upload-target.ts";

/** The keys that s3rver knows. */
export const s3AccessTo = (endpoint: string): S3Access => ({
  endpoint,
  region: "us-east-1",
  accessKeyId: "S3RVER",
  secretAccessKey: "S3RVER",
  sessionToken: undefined,
});

/** A real S3-compatible server in a process of its own, with one bucket. */
export async function anS3Store(bucket: string) {
  const folder = aFolder();
  const server = Bun.spawn(
    [process.execPath, join(import.meta.dirname, "s3-child.ts"), folder(), bucket],
    { stdout: "pipe", stderr: "ignore", env: { ...process.env, NODE_ENV: "production" } },
  );
  const endpoint = `http://127.0.0.1:${await portOf(server.stdout)}`;
  const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER", endpoint, bucket };
  const client = new Bun.S3Client(credentials);
  return {
    endpoint,
    /** The GET answer of a stored key, or null. */
    find: async (key: string) => {
      const answer = await fetch(client.presign(key));
      return answer.status === 404 ? null : answer;
    },
    keys: async (prefix = "") => {
      const { contents = [] } = await client.list({ prefix, maxKeys: 1_000 });
      return contents.map(({ key }) => key).sort();
    },
    close: async () => {
      server.kill();
      await server.exited;
      folder.close();
    },
  };
}

async function portOf(output: ReadableStream<Uint8Array>): Promise<number> {
  for await (const line of output) return Number(new TextDecoder().decode(line));
  throw new Error("the S3 server did not start");
}
