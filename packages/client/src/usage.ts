/** What a server's database has used, over HTTP. */
import type { UsageDimension, UsageItem } from '@witan/protocol/schemas'
import type { Page, PageQuery } from './page.ts'
import type { Transport } from './transport.ts'

/** What is listed: by what, and of which days; days are those of UTC. */
export interface UsageQuery extends PageQuery {
  readonly by: UsageDimension
  /** The first day, as `2026-11-25`. */
  readonly from?: string
  /** The last day, included. A date with a time is the end itself, not included: `2026-11-26T00:00:00Z` ends with the 25th. */
  readonly to?: string
}

/** A page of usage, in the order of the keys. It may be short and still have a cursor. */
export function listUsage(transport: Transport, query: UsageQuery): Promise<Page<UsageItem>> {
  return transport.json('GET', '/api/v1/usage', { query: { ...query } })
}
