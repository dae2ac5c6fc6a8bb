import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: "./content/store/tables/*.ts",
  out: "./content/store/migrations",
});
