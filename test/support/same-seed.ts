import * as fc from "fast-check";
import { isFull } from "#test/support/measured.ts";

// Loaded before all tests: an ordinary run draws the same values each time, so that it fails only where code has changed.
if (!isFull) fc.configureGlobal({ seed: 1 });
