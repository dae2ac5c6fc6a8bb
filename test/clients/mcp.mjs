// Lists the tools of a server and calls one, with a stock client: {"url", "sdk": 1 or 2, "bridge"?: a program between}.
const { url, sdk, bridge } = JSON.parse(process.argv[2] ?? "{}");
const from = (file) =>
  sdk === 1
    ? import(`@modelcontextprotocol/sdk/client/${file}.js`)
    : import(`@modelcontextprotocol/client${file === "stdio" ? "/stdio" : ""}`);
const { Client } = await from("index");
const pin = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const client = new Client({ name: "stock", version: "1.0.0" }, sdk === 1 || bridge ? {} : pin);
const connection = async () => {
  if (bridge === undefined)
    return new (await from("streamableHttp")).StreamableHTTPClientTransport(new URL(url));
  const { StdioClientTransport } = await from("stdio");
  return new StdioClientTransport({ command: bridge[0], args: bridge.slice(1), stderr: "ignore" });
};
await client.connect(await connection());
const { tools } = await client.listTools();
const call = { name: "get_nonprofit", arguments: { slug: "rich" } };
const { structuredContent } = await client.callTool(call);
process.stdout.write(JSON.stringify({ tools: tools.length, slug: structuredContent?.slug }));
await client.close();
process.exit(0);
