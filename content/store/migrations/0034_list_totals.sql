CREATE TABLE `list_totals` (
	`list` text PRIMARY KEY NOT NULL,
	`members` integer NOT NULL,
	`verified` integer NOT NULL,
	`people` real NOT NULL
);
--> statement-breakpoint
-- To count a million places in lists takes a second, and every page with a number asked for it after each change.
INSERT INTO list_totals (list, members, verified, people)
SELECT list, count(*), sum(-impact_order % 2), sum(max(0, -impact_order / 2 - 1)) FROM listings GROUP BY list;
--> statement-breakpoint
CREATE TRIGGER `listings_are_counted` AFTER INSERT ON `listings`
BEGIN
  INSERT INTO list_totals (list, members, verified, people)
  VALUES (NEW.list, 1, -NEW.impact_order % 2, max(0, -NEW.impact_order / 2 - 1))
  ON CONFLICT (list) DO UPDATE SET
    members = members + 1, verified = verified + excluded.verified, people = people + excluded.people;
END;
--> statement-breakpoint
CREATE TRIGGER `listings_are_counted_less` AFTER DELETE ON `listings`
BEGIN
  UPDATE list_totals SET
    members = members - 1, verified = verified - (-OLD.impact_order % 2),
    people = people - max(0, -OLD.impact_order / 2 - 1)
  WHERE list = OLD.list;
END;
--> statement-breakpoint
CREATE TRIGGER `listings_are_counted_again` AFTER UPDATE OF `impact_order` ON `listings`
BEGIN
  UPDATE list_totals SET
    verified = verified + (-NEW.impact_order % 2) - (-OLD.impact_order % 2),
    people = people + max(0, -NEW.impact_order / 2 - 1) - max(0, -OLD.impact_order / 2 - 1)
  WHERE list = NEW.list;
END;
--> statement-breakpoint
CREATE TABLE `sitemap_chunks` (
	`chunk` integer PRIMARY KEY NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO sitemap_chunks (chunk, updated_at)
SELECT (id - 1) / 1000 + 1, max(updated_at) FROM nonprofits GROUP BY 1;
--> statement-breakpoint
CREATE TRIGGER `sitemaps_know_new` AFTER INSERT ON `nonprofits`
BEGIN
  INSERT INTO sitemap_chunks (chunk, updated_at) VALUES ((NEW.id - 1) / 1000 + 1, NEW.updated_at)
  ON CONFLICT (chunk) DO UPDATE SET updated_at = max(updated_at, excluded.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `sitemaps_know_changed` AFTER UPDATE OF `updated_at` ON `nonprofits`
BEGIN
  UPDATE sitemap_chunks SET updated_at = max(updated_at, NEW.updated_at) WHERE chunk = (NEW.id - 1) / 1000 + 1;
END;
