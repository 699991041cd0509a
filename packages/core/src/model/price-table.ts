/**
 * Published prices of common models, as data. They are for text, at the standard rate; `date` is that of a vendor's newest
 * comparison; single rows may be older. Left out is what one number cannot say: prices by the hour of the day (DeepSeek), introductory prices, and what could not
 * be checked.
 */
import type { ModelPrice } from './model.ts'

/** Prices by vendor, and by the vendor's name of the model. */
export type PriceTable = Readonly<Record<string, VendorPrices>>

/** The prices of one vendor, and the date that they are of, such as `2026-10-24`. */
interface VendorPrices {
  readonly date: string
  readonly models: Readonly<Record<string, ModelPrice>>
}

type Row = readonly [input: number, output: number, cacheRead?: number, cacheWrite?: number]

function price([inputPerMillion, outputPerMillion, read, write]: Row): ModelPrice {
  return {
    inputPerMillion,
    outputPerMillion,
    ...(read === undefined ? {} : { cachedInputPerMillion: read }),
    ...(write === undefined ? {} : { cacheWritePerMillion: write }),
  }
}

/** With another price for requests of more input tokens; null where that price is not known. */
function tiered(row: Row, moreThan: number, long: Row | null): ModelPrice {
  return { ...price(row), longInput: { moreThan, price: long === null ? null : price(long) } }
}

/** The table of this version. A runtime uses it unless it gets another one. */
export const priceTable: PriceTable = {
  openai: {
    date: '2026-10-16',
    models: {
      'gpt-6-astra': tiered([10, 50, 1, 12.5], 272_000, [20, 75, 2, 25]),
      'gpt-6.1-sol': tiered([2, 10, 0.1, 2.5], 272_000, null),
      'gpt-6-sol': tiered([2, 10, 0.2, 2.5], 272_000, null),
      'gpt-6-luna': tiered([0.1, 0.5, 0.01, 0.125], 272_000, null),
      'gpt-5.6': tiered([2, 10, 0.2, 2.5], 272_000, [4, 15, 0.4, 5]),
      'gpt-5.6-sol': tiered([2, 10, 0.2, 2.5], 272_000, [4, 15, 0.4, 5]),
      'gpt-5.5': tiered([5, 30, 0.5], 272_000, [10, 45, 1]),
      'gpt-5.4': tiered([2.5, 15, 0.25], 272_000, null),
      'gpt-5.2': price([1.75, 14, 0.175]),
      'gpt-5.1': price([1.25, 10, 0.125]),
      'gpt-5': price([1.25, 10, 0.125]),
      'gpt-5-mini': price([0.25, 2, 0.025]),
      'gpt-5-nano': price([0.05, 0.4, 0.005]),
      'gpt-4.1': price([2, 8, 0.5]),
      'gpt-4.1-mini': price([0.4, 1.6, 0.1]),
      'gpt-4.1-nano': price([0.1, 0.4, 0.025]),
      'gpt-4o': price([2.5, 10, 1.25]),
      'gpt-4o-2024-05-13': price([5, 15]),
      'gpt-4o-mini': price([0.15, 0.6, 0.075]),
    },
  },
  anthropic: {
    date: '2026-10-24',
    // Writes for five minutes; those for an hour cost more.
    models: {
      'claude-fable-5-1': price([10, 50, 0.25, 12.5]),
      'claude-fable-5': price([10, 50, 1, 12.5]),
      'claude-opus-5-5': price([4, 20, 0.2, 5]),
      'claude-opus-5': price([5, 25, 0.5, 6.25]),
      'claude-opus-4-8': price([5, 25, 0.5, 6.25]),
      'claude-opus-4-7': price([5, 25, 0.5, 6.25]),
      'claude-opus-4-6': price([5, 25, 0.5, 6.25]),
      'claude-opus-4-5': price([5, 25, 0.5, 6.25]),
      'claude-sonnet-5-5': price([2, 10, 0.1, 2.5]),
      'claude-sonnet-5': price([2, 10, 0.2, 2.5]),
      'claude-sonnet-4-6': tiered([3, 15, 0.3, 3.75], 200_000, null),
      'claude-sonnet-4-5': tiered([3, 15, 0.3, 3.75], 200_000, null),
      'claude-haiku-5-5': tiered([0.1, 0.5, 0.01, 0.125], 100_000, [0.5, 2.5, 0.05, 0.625]),
      'claude-haiku-4-5': price([1, 5, 0.1, 1.25]),
    },
  },
  google: {
    date: '2026-10-07',
    models: {
      'gemini-3.5-flash': price([1.5, 9, 0.15]),
      'gemini-3.1-pro-preview': tiered([2, 12, 0.2], 200_000, [4, 18, 0.4]),
      'gemini-2.5-pro': tiered([1.25, 10, 0.125], 200_000, [2.5, 15, 0.25]),
      'gemini-2.5-flash': price([0.3, 2.5, 0.03]),
      'gemini-2.5-flash-lite': price([0.1, 0.4, 0.01]),
    },
  },
  mistral: {
    date: '2026-08-27',
    models: {
      'mistral-large-2512': price([0.5, 1.5]),
      'mistral-medium-2604': price([1.5, 7.5]),
      'mistral-medium-3-5': price([1.5, 7.5]),
    },
  },
}

/** The hosts at which a vendor itself answers. Behind any other one a model of the same name may cost something else, or nothing. */
const vendorOf: Readonly<Record<string, string>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'google',
  'api.mistral.ai': 'mistral',
}

/** The vendor behind a host, or null. */
export function vendorAt(host: string): string | null {
  return Object.hasOwn(vendorOf, host) ? (vendorOf[host] ?? null) : null
}

/** A price, and the date of the table that it is from. */
export interface TablePrice {
  readonly price: ModelPrice
  readonly date: string
}

/** The price of a vendor's model; a date at the end of its name is ignored where the table has no row for it. Null if unknown. */
export function tablePrice(table: PriceTable, vendor: string, model: string): TablePrice | null {
  const own = Object.hasOwn(table, vendor) ? table[vendor] : undefined
  if (own === undefined) return null
  for (const name of [model, model.replace(/-(\d{4}-\d{2}-\d{2}|\d{8})$/, '')]) {
    const found = Object.hasOwn(own.models, name) ? own.models[name] : undefined
    if (found !== undefined) return { price: found, date: own.date }
  }
  return null
}
