-- What operators did is never rewritten, whoever asks: not by a bug of ours, and not by hand without a trace in the schema.
CREATE TRIGGER `audit_log_is_not_changed` BEFORE UPDATE ON `audit_log`
BEGIN
  SELECT RAISE(ABORT, 'the audit log is never changed');
END;
--> statement-breakpoint
CREATE TRIGGER `audit_log_is_not_shortened` BEFORE DELETE ON `audit_log`
BEGIN
  SELECT RAISE(ABORT, 'nothing is taken out of the audit log');
END;
