import { createServer } from "node:net";
import { once } from "node:events";

/** A real SMTP server on this machine that takes every mail, or (`refusing`) none. */
export async function aMailServer({ refusing = false } = {}) {
  const mails: { to: string; text: string }[] = [];
  const server = createServer((socket) => {
    let to = "";
    let data: string | null = null;
    let rest = "";
    const say = (line: string) => socket.write(`${line}\r\n`);
    const hear = (line: string) => {
      if (data !== null && line !== ".") data += `${line}\n`;
      else if (data !== null) {
        mails.push({ to, text: decoded(data) });
        data = null;
        say("250 taken");
      } else if (/^RCPT TO:/i.test(line)) {
        to = /<(.*)>/.exec(line)?.[1] ?? "";
        say(refusing ? "451 not now" : "250 ok");
      } else if (/^DATA/i.test(line)) {
        data = "";
        say("354 go on");
      } else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
      else say("250 ok");
    };
    socket.on("data", (chunk) => {
      const lines = (rest + chunk.toString()).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) hear(line);
    });
    socket.on("error", () => socket.destroy());
    say("220 mail.example");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { mails, url: `smtp://127.0.0.1:${address.port}`, close: () => server.close() };
}

/** Quoted-printable breaks lines and escapes. */
const decoded = (data: string): string =>
  data
    .replaceAll("=\n", "")
    .replaceAll(/=([\dA-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
