CREATE TABLE `limit_hits` (
	`policy` text NOT NULL,
	`client` text NOT NULL,
	`until` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`policy`, `client`, `until`)
);
--> statement-breakpoint
CREATE INDEX `limit_hits_by_until` ON `limit_hits` (`until`);