/** What the benches use of autocannon, which has no types of its own. */
declare module "autocannon" {
  type Request = { path: string; method?: "POST"; headers: Record<string, string>; body?: string };
  type Client = { setRequests(requests: Request[]): void };
  type Options = {
    url: string;
    connections: number;
    amount: number;
    setupClient: (client: Client) => void;
    verifyBody?: (body: string) => boolean;
  };
  type Running = PromiseLike<{ errors: number; mismatches: number }> & {
    on(
      event: "response",
      listener: (client: Client, status: number, bytes: number, tookMs: number) => void,
    ): void;
  };
  export default function autocannon(options: Options): Running;
}
