/** The version of Almoner, as package.json has it. Its third number is raised with each migration: see test/house/packages.test.ts. */
export const version = "0.5.0";

/** The version of the API's contract, which OpenAPI names. Fields are only ever added to it. */
export const contractVersion = "0.3.0";
