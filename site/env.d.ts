/// <reference types="astro/client" />

declare namespace App {
  /** What the publisher passes to a page; each page uses its own part of it. */
  interface Locals {
    [part: string]: unknown;
  }
}
