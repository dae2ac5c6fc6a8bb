CREATE TABLE `curated_picks` (
	`nonprofit_id` integer PRIMARY KEY NOT NULL,
	`recommended_for` text NOT NULL,
	`why_recommended` text NOT NULL
);
