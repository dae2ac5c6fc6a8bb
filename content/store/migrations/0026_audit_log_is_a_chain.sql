ALTER TABLE `audit_log` ADD `previous_hash` text;--> statement-breakpoint
ALTER TABLE `audit_log` ADD `hash` text;--> statement-breakpoint
-- Entries of older versions are put into the chain once; nothing else of an entry ever changes.
DROP TRIGGER `audit_log_is_not_changed`;
--> statement-breakpoint
CREATE TRIGGER `audit_log_is_not_changed` BEFORE UPDATE ON `audit_log`
WHEN OLD.hash IS NOT NULL OR NEW.hash IS NULL
  OR (OLD.id, OLD.operator, OLD.action, OLD.subject, OLD.detail, OLD.happened_at)
    IS NOT (NEW.id, NEW.operator, NEW.action, NEW.subject, NEW.detail, NEW.happened_at)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
--> statement-breakpoint
-- INSERT OR REPLACE takes the older row out without asking the trigger for deletions.
CREATE TRIGGER `audit_log_is_not_replaced` BEFORE INSERT ON `audit_log`
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
