/** What the database itself saw made and over, by its own clock: triggers beside the store keep it, whatever any server's clock says. */
import type { Lane } from './lane.ts'

/** What has a time until which it holds. */
export type Expiring = 'interruption' | 'conversation' | 'lease'

/** Something was given its time, or its time was taken as over. In ms of the database's clock. */
export interface Expiry {
  readonly of: Expiring
  readonly is: 'given' | 'over'
  readonly at: number
  /** Until when it held. */
  readonly due: number
}

/** A watch over one database. */
export interface ExpiryWatch {
  /** What happened since the last time that was asked for. */
  seen(): Promise<readonly Expiry[]>
  /** The database's clock, in ms. */
  now(): Promise<number>
  /** Makes the reply under a key so old that the key is free again in so many ms; gives when that is. */
  ageKey(key: string, leftMs: number): Promise<number>
}

const clock = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** Each with the table, what is done to it, and the condition. A lease is over when another owner takes the job. */
const sights: readonly (readonly [of: Expiring, is: Expiry['is'], table: string, on: string, when: string])[] = [
  ['interruption', 'given', 'interruptions', 'insert', 'new.expires_at is not null'],
  ['interruption', 'over', 'interruptions', 'update', "old.state = 'open' and new.state = 'expired'"],
  ['conversation', 'given', 'conversations', 'insert', 'new.expires_at is not null'],
  ['conversation', 'over', 'conversations', 'delete', 'old.expires_at is not null'],
  ['lease', 'over', 'jobs', 'update', 'old.owner is not null and new.owner <> old.owner'],
]

const table = `create table public.expiries (number bigint generated always as identity, what text, due bigint, at bigint);
create function public.see() returns trigger language plpgsql security definer as $$
declare it jsonb;
begin
  if tg_op = 'INSERT' then it := to_jsonb(new); else it := to_jsonb(old); end if;
  insert into public.expiries (what, due, at) values (tg_argv[0], (it ->> tg_argv[1])::bigint, ${clock});
  return null;
end $$`

/** Begins to watch a database whose schema is there. */
export async function watchExpiries(lane: Lane): Promise<ExpiryWatch> {
  await lane.execute(table)
  for (const [index, [of, is, name, on, when]] of sights.entries()) {
    const column = of === 'lease' ? 'lease_until' : 'expires_at'
    await lane.execute(`create trigger sight_${index} after ${on} on witan.${name}
      for each row when (${when}) execute function public.see('${of} ${is}', '${column}')`)
  }
  let after = 0
  const ask = async (sql: string) => (await lane.execute(sql)) as readonly Readonly<Record<string, unknown>>[]
  return {
    async seen() {
      const rows = await ask(
        `select number, what, due, at from public.expiries where number > ${after} order by number`,
      )
      after = Number(rows.at(-1)?.['number'] ?? after)
      return rows.map(({ what, due, at }) => {
        const [of, is] = String(what).split(' ') as [Expiring, Expiry['is']]
        return { of, is, due: Number(due), at: Number(at) }
      })
    },
    now: async () => Number((await ask(`select ${clock} as now`))[0]?.['now']),
    async ageKey(key, leftMs) {
      const rows = await ask(`update witan.replies set at = ${clock} - ${keyMs} + ${leftMs}
        where key like '%${key}%' returning at + ${keyMs} as due`)
      if (rows.length !== 1) throw new Error(`${rows.length} replies under the key ${key}`)
      return Number(rows[0]?.['due'])
    },
  }
}

/** How long a reply is remembered: a day. */
const keyMs = 86_400_000
