const json: ReadonlySet<string> = new Set(['application/json', 'application/json-rpc', 'application/jsonrequest'])

/**
 * Whether a content type may carry JSON-RPC. A missing header may; parameters such as `charset` do not matter.
 * @see JSON-RPC over HTTP (the three names), RFC 9110 section 8.3
 */
export const isJsonMediaType = (header: string | undefined): boolean =>
  header === undefined ||
  header === 'application/json' ||
  json.has((header.split(';', 1)[0] ?? '').trim().toLowerCase())
