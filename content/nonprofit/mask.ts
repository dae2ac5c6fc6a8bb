/** "jane@example-host.org" → "j…@example-host.org": a second agent must find the address itself. */
export function maskEmail(address: string): string {
  const at = address.lastIndexOf("@");
  const first = Array.from(address)[0] ?? "";
  return at < 1 ? `${first}…` : `${first}…${address.slice(at)}`;
}

/** A value as it may be public: contact_email is never. Source: decisions.md, "Shapes". */
export const publicValue = (field: string, value: string): string =>
  field === "contact_email" ? maskEmail(value) : value;
