/** The exchanges of a job: who speaks with whom by which protocol, where that stands, and what was said. */
import type { ExchangeEnds, ExchangeStanding } from '@witan/protocol/entries'

/** An exchange between two agents of a job. */
interface Exchange extends ExchangeEnds {
  /** The call that began it. */
  readonly id: string
  /** Where it stands; null before the first message that was sent. */
  readonly standing: ExchangeStanding | null
  /** Its messages and replies, as the other end reads them. */
  readonly said: string[]
}

/** The exchanges of a job, by `exchangeKey`: of each two agents and protocol the latest. */
export interface Exchanges {
  /** Grows with each message that was sent. */
  readonly moves: number
  get(key: string): Exchange | undefined
  set(key: string, exchange: Exchange): void
  values(): Iterable<Exchange>
}

/** No exchanges yet. */
export class ExchangeBook implements Exchanges {
  moves = 0
  #byKey: Map<string, Exchange> | null = null

  get(key: string): Exchange | undefined {
    return this.#byKey?.get(key)
  }

  set(key: string, exchange: Exchange): void {
    this.#byKey ??= new Map()
    this.#byKey.set(key, exchange)
    this.moves += 1
  }

  values(): Iterable<Exchange> {
    return this.#byKey?.values() ?? []
  }
}

/** What an exchange is known by in its job. */
export function exchangeKey({ protocol, initiator, responder }: Omit<ExchangeEnds, 'revision'>): string {
  return `${protocol} ${initiator} ${responder}`
}
