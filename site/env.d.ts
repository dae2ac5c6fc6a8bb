/// <reference types="astro/client" />

declare namespace App {
  /** What the publisher hands to a page. Each page takes its own part out of it. */
  interface Locals {
    [part: string]: unknown;
  }
}
