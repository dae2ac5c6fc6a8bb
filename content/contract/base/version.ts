/** The version of Almoner, as in package.json. Each migration raises its third number (test/house/packages.test.ts). */
export const version = "0.5.0";

/** The version of the API contract, named in OpenAPI. Fields are only ever added. */
export const contractVersion = "0.3.0";
