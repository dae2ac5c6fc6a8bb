ALTER TABLE `imports` ADD `fetched` text;--> statement-breakpoint
ALTER TABLE `imports` ADD `problem` text;