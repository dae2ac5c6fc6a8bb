ALTER TABLE `provenance` ADD `replaced` text;
--> statement-breakpoint
-- What operators picked among values of agents so far: the agents named it.
UPDATE `provenance` SET `source` = 'consensus'
WHERE `field` IN ('website', 'contact_email') AND `set_by` = 'operator' AND `agents` <> '[]';
