/**
 * Who answers a GET. "file": a file of the bundle. "service": the service. "queried": the service if the query asks for more
 * than the file has, else the file. "live": the service, or an older file if the service cannot be reached.
 */
type Answers = "file" | "service" | "queried" | "live";

/** How long caches keep a file, by class; site/delivery/http-headers.ts has the headers. */
export type CacheClass = "page" | "forever" | "week" | "moment" | "asks";

export type Address = {
  /** A part in braces stands for one part of a path, {number} for digits, a final star for everything that follows. */
  readonly path: string;
  readonly from: Answers;
  /** For people: HTML, and mostly markdown too. Absent: for programs. The desk is for operators. */
  readonly for?: "people" | "operators";
  /** Who answers it in other languages; absent: English only. */
  readonly translated?: "file" | "service" | "queried";
  /** Absent: "page". */
  readonly cache?: CacheClass;
  /** The limit that a request counts toward; absent: "read". */
  readonly limit?: LimitName;
  /** A content type that it accepts besides JSON. */
  readonly takes?: "form" | "table";
  /** Redirects here. In languages that have a file at this address, the file answers instead. */
  readonly moved?: string;
  /** A page that is useless without the service. */
  readonly acts?: true;
  /** Reachable only from the machine itself: servers in front must not pass requests on. */
  readonly local?: true;
};

/** The name of a limit. "none": never limited, and described so; also of files. "pay": for requests that bring a payment. */
export type LimitName = "read" | "none" | "donate" | "pay" | keyof typeof writeLimits;

/** Who shares an allowance for bytes stored per day: agents cannot use up that of organisations or readers. */
export type Room = "agents" | "organisations" | "readers";

/**
 * How many writes one client (an IPv4 address or an IPv6 /64) may send in a minute, and in whose room they are stored. Reads
 * and gifts have settings instead.
 */
export const writeLimits = {
  enrich: { perMinute: 30, room: "agents" },
  bind: { perMinute: 5, room: "agents" },
  onboard: { perMinute: 10, room: "organisations" },
  correct: { perMinute: 10, room: "readers" },
} as const satisfies Record<string, { perMinute: number; room: Room }>;

/** How many submissions an agent may send with its secret, or from one network (docs/consensus.md). */
export const agentLimits = { perMinute: 120, perDay: 5_000 } as const;

/** The path of a page (given in English) in a language: "/es/about" for "/about"; English has no prefix. */
export const pathIn = (language: string, path: string): string =>
  language === "en" ? path : `/${language}${path === "/" ? "" : path}`;

/** What is at each address of the directory. If several match a path, the first counts. */
// walk: table
// prettier-ignore
export const addresses = {
  // Pages.
  home: { path: "/", from: "file", for: "people", translated: "file" },
  about: { path: "/about", from: "file", for: "people", translated: "file" },
  agents: { path: "/agents", from: "file", for: "people", translated: "file" },
  causes: { path: "/causes", from: "file", for: "people", translated: "file" },
  correctionStatus: { path: "/corrections/status", from: "file", for: "people", translated: "file", acts: true },
  countries: { path: "/countries", from: "file", for: "people", translated: "file" },
  data: { path: "/data", from: "file", for: "people", translated: "file" },
  developers: { path: "/developers", from: "file", for: "people", translated: "file" },
  match: { path: "/match", from: "file", for: "people", translated: "file", acts: true },
  methodology: { path: "/methodology", from: "file", for: "people", translated: "file" },
  notFound: { path: "/404", from: "file", for: "people", translated: "file" },
  onboardStatus: { path: "/onboard/status", from: "file", for: "people", translated: "file", acts: true },
  privacy: { path: "/privacy", from: "file", for: "people", translated: "file" },
  receipt: { path: "/receipt", from: "file", for: "people", translated: "file", acts: true },
  recommendations: { path: "/recommendations", from: "file", for: "people", translated: "file" },
  statistics: { path: "/statistics", from: "file", for: "people", translated: "file" },
  widget: { path: "/widget", from: "file", for: "people", translated: "file", acts: true },
  // Pages that the service renders if the query asks for it.
  corrections: { path: "/corrections", from: "queried", for: "people", translated: "queried", acts: true },
  onboard: { path: "/onboard", from: "queried", for: "people", translated: "queried", acts: true },
  compare: { path: "/compare", from: "queried", for: "people", translated: "queried" },
  search: { path: "/search", from: "queried", for: "people", translated: "queried" },
  browse: { path: "/browse", from: "queried", for: "people", translated: "service" },
  // Profiles and lists.
  profileFeed: { path: "/nonprofits/{slug}.atom", from: "service" },
  profileMarkdown: { path: "/nonprofits/{slug}.md", from: "file", for: "people", limit: "none" },
  profile: { path: "/nonprofits/{slug}", from: "file", for: "people", translated: "service" },
  donatePage: { path: "/donate/{slug}", from: "file", for: "people", translated: "service", acts: true },
  causeList: { path: "/causes/{list}", from: "file", for: "people", translated: "service" },
  countryList: { path: "/countries/{list}", from: "file", for: "people", translated: "service" },
  history: { path: "/history/{slug}", from: "service", for: "people", translated: "service" },
  organisation: { path: "/organisations/{org_id}", from: "service", for: "people", translated: "service" },
  // Former addresses.
  historyBeside: { path: "/nonprofits/{slug}/history", from: "service", for: "people", translated: "service", moved: "/history/{slug}" },
  historyJsonBeside: { path: "/api/nonprofits/{slug}/history", from: "service", moved: "/api/history/{slug}" },
  causePages: { path: "/causes/{list}/{page}", from: "service", for: "people", translated: "service", moved: "/causes/{list}-{page}" },
  countryPages: { path: "/countries/{list}/{page}", from: "service", for: "people", translated: "service", moved: "/countries/{list}-{page}" },
  browseBefore: { path: "/nonprofits", from: "file", for: "people", translated: "service", moved: "/browse" },
  profilePictures: { path: "/pictures/nonprofits/*", from: "service", moved: "/pictures/home.png" },
  countryPictures: { path: "/pictures/countries/*", from: "service", moved: "/pictures/home.png" },
  // Answers that are files of the bundle.
  listNonprofits: { path: "/api/nonprofits", from: "queried" },
  nonprofitPages: { path: "/api/nonprofits/pages/{number}.json", from: "file" },
  getNonprofit: { path: "/api/nonprofits/{slug}", from: "queried" },
  getHistory: { path: "/api/history/{slug}", from: "file" },
  listCauses: { path: "/api/causes", from: "file" },
  stats: { path: "/api/stats", from: "live" },
  needsEnrichment: { path: "/api/needs-enrichment", from: "live" },
  leaderboard: { path: "/api/agents/leaderboard", from: "live" },
  exemplars: { path: "/api/agents/exemplars", from: "live" },
  enrichmentStats: { path: "/api/enrichments/stats", from: "live" },
  donations: { path: "/api/donations/{slug}", from: "live" },
  // Answers of the service.
  apiIndex: { path: "/api", from: "service" },
  findOrganisations: { path: "/api/organisations", from: "service" },
  donation: { path: "/api/donations/{slug}/{donation_id}", from: "service" },
  gaps: { path: "/api/gaps", from: "service", limit: "correct" },
  searchJson: { path: "/api/search", from: "service" },
  compareJson: { path: "/api/compare", from: "service" },
  recommend: { path: "/api/recommend", from: "service" },
  draftRecommendation: { path: "/api/recommend/drafts", from: "service", limit: "enrich" },
  enrich: { path: "/api/enrich/{slug}", from: "service", limit: "enrich" },
  bindAgent: { path: "/api/agents", from: "service", limit: "bind" },
  rotateAgent: { path: "/api/agents/rotate", from: "service", limit: "enrich" },
  revokeAgent: { path: "/api/agents/revoke", from: "service", limit: "enrich" },
  correctionStatusJson: { path: "/api/corrections/status", from: "service" },
  correctionStatusForm: { path: "/api/corrections/status/page", from: "service", takes: "form" },
  correct: { path: "/api/corrections/{slug}", from: "service", limit: "correct", takes: "form" },
  donate: { path: "/api/donate/{slug}", from: "service", limit: "pay" },
  donateQuote: { path: "/api/donate/{slug}/quote", from: "service", limit: "donate" },
  donateStatus: { path: "/api/donate/{slug}/status", from: "service", limit: "donate" },
  checkWallets: { path: "/api/wallets", from: "service" },
  wallet: { path: "/api/wallets/{address}", from: "service" },
  claimOrRegister: { path: "/api/onboard", from: "service", limit: "onboard", takes: "form" },
  walletChallenge: { path: "/api/onboard/challenge", from: "service" },
  onboardStatusJson: { path: "/api/onboard/status", from: "service" },
  onboardStatusForm: { path: "/api/onboard/status/page", from: "service", takes: "form" },
  proveHost: { path: "/api/onboard/host-proof", from: "service", limit: "onboard" },
  withdrawOnboarding: { path: "/api/onboard/withdraw", from: "service", limit: "onboard" },
  standing: { path: "/api/organisations/standing", from: "service" },
  getOrganisation: { path: "/api/organisations/{org_id}", from: "service" },
  reconcile: { path: "/reconcile", from: "service", takes: "form" },
  reconcileManifest: { path: "/reconcile/v1", from: "service" },
  reconcileMatch: { path: "/reconcile/v1/match", from: "service" },
  reconcileSuggest: { path: "/reconcile/v1/suggest/{kind}", from: "service" },
  reconcilePreview: { path: "/reconcile/v1/preview", from: "service" },
  reconcilePropose: { path: "/reconcile/v1/extend/propose", from: "service" },
  reconcileExtend: { path: "/reconcile/v1/extend", from: "service" },
  reconcileTable: { path: "/reconcile/csv", from: "service", takes: "table" },
  mcp: { path: "/mcp", from: "service" },
  mcpRead: { path: "/mcp/read", from: "service" },
  healthz: { path: "/healthz", from: "service", limit: "none" },
  readyz: { path: "/readyz", from: "service", limit: "none" },
  metrics: { path: "/metrics", from: "service", limit: "none", local: true },
  // Actions of operators.
  reviews: { path: "/api/admin/reviews", from: "service" },
  review: { path: "/api/admin/reviews/{id}", from: "service" },
  approve: { path: "/api/admin/reviews/{id}/approve", from: "service" },
  reject: { path: "/api/admin/reviews/{id}/reject", from: "service" },
  checkHost: { path: "/api/admin/reviews/{id}/check", from: "service" },
  queues: { path: "/api/admin/queues", from: "service" },
  auditLog: { path: "/api/admin/audit", from: "service" },
  gapList: { path: "/api/admin/gaps", from: "service" },
  revertAgent: { path: "/api/admin/agents/revert", from: "service" },
  agentSubmissions: { path: "/api/admin/agents/submissions", from: "service" },
  bindForOwner: { path: "/api/admin/agents/bind", from: "service" },
  nameAgent: { path: "/api/admin/agents/name", from: "service" },
  operatorHealth: { path: "/api/admin/health", from: "service" },
  dailyNumbers: { path: "/api/admin/numbers", from: "service" },
  withdrawNonprofit: { path: "/api/admin/nonprofits/{slug}/withdraw", from: "service" },
  restoreNonprofit: { path: "/api/admin/nonprofits/{slug}/restore", from: "service" },
  editNonprofit: { path: "/api/admin/nonprofits/{slug}/edit", from: "service" },
  mergeNonprofit: { path: "/api/admin/nonprofits/{slug}/merge", from: "service" },
  revokeVerification: { path: "/api/admin/nonprofits/{slug}/revoke", from: "service" },
  picks: { path: "/api/admin/picks", from: "service" },
  pick: { path: "/api/admin/picks/{slug}", from: "service" },
  removePick: { path: "/api/admin/picks/{slug}/remove", from: "service" },
  eraseContacts: { path: "/api/admin/contacts/erase", from: "service" },
  // For any other address below these, the service answers that nothing is there.
  admin: { path: "/api/admin/*", from: "service" },
  desk: { path: "/desk", from: "service", for: "operators" },
  deskPages: { path: "/desk/*", from: "service", for: "operators" },
  api: { path: "/api/*", from: "service" },
  reconciliation: { path: "/reconcile/*", from: "service" },
  // Files.
  llms: { path: "/llms.txt", from: "file" },
  arazzo: { path: "/agents.arazzo.yaml", from: "file" },
  openapi: { path: "/openapi.json", from: "file" },
  openapiYaml: { path: "/openapi.yaml", from: "file" },
  feed: { path: "/feed.atom", from: "file" },
  icons: { path: "/{icon}.png", from: "file" },
  favicon: { path: "/favicon.svg", from: "file" },
  faviconIco: { path: "/favicon.ico", from: "file" },
  webManifest: { path: "/manifest.webmanifest", from: "file" },
  pagesInMarkdown: { path: "/{page}.md", from: "file" },
  pictures: { path: "/pictures/*", from: "file" },
  mcpRegistry: { path: "/server.json", from: "file" },
  robots: { path: "/robots.txt", from: "file" },
  wellKnown: { path: "/.well-known/*", from: "file" },
  sitemap: { path: "/sitemap.xml", from: "file" },
  sitemaps: { path: "/sitemaps/*", from: "file" },
  charts: { path: "/statistics/{chart}.csv", from: "file" },
  changes: { path: "/changes/{number}.json", from: "file", cache: "forever", limit: "none" },
  changeState: { path: "/changes/state.json", from: "file", cache: "moment", limit: "none" },
  auditHeads: { path: "/changes/*", from: "file", cache: "moment", limit: "none" },
  snapshot: { path: "/snapshot/*", from: "file", cache: "asks" },
  dataFiles: { path: "/data/*", from: "file", cache: "asks" },
  standingFiles: { path: "/standing/*", from: "file" },
  lunr: { path: "/search/*", from: "file" },
  pagefindShards: { path: "/pagefind/*.pf_*", from: "file", cache: "week" },
  pagefind: { path: "/pagefind/*", from: "file" },
  assets: { path: "/_astro/*", from: "file", cache: "forever" },
  widgetScript: { path: "/widget/*", from: "file" },
} as const satisfies Record<string, Address>;
