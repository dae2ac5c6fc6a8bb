/** The version of Almoner, as package.json has it. */
export const version = "0.3.0";
