/** `witan signing`: the keys that the server signs its cards with, on the store itself. */
import { createOwnKeys, listSigningKeys, type OwnKey, signingNow } from '@witan/core/tooling'
import { type Command, configOption, type Given, jsonOption } from '../command.ts'
import { type ExitCode, exitCodes } from '../exit.ts'
import { printList } from '../listing.ts'
import { readConfig } from '../loading.ts'
import { refuseMemory, refuseMissing, withStore } from '../opened-store.ts'
import type { Terminal } from '../terminal.ts'
import { age } from '../tree/phrase.ts'

const options = { ...jsonOption, ...configOption }

/** The commands about the server's own keys. */
export const signingCommands: readonly Command[] = [
  {
    name: 'signing list',
    summary: 'List the keys that the server signs with, without their private parts.',
    options,
    run: (given, terminal) => withKeys(given, terminal, async (keys) => keys),
  },
  {
    name: 'signing rotate',
    summary: 'Make a new key that signs from now on; the one before stays published for a day.',
    options,
    run: (given, terminal) => withKeys(given, terminal, (_, rotate) => rotate()),
  },
]

type Work = (keys: readonly OwnKey[], rotate: () => Promise<readonly OwnKey[]>) => Promise<readonly OwnKey[]>

async function withKeys(given: Given, terminal: Terminal, work: Work): Promise<ExitCode> {
  const config = await readConfig(given, terminal)
  refuseMemory(config, 'keep a key in')
  refuseMissing(config, 'has the keys')
  await withStore(config, 'do this', async (store) => {
    const own = createOwnKeys(store)
    // A command that only reads makes no key.
    const known = (await listSigningKeys(store)).length === 0 ? [] : await own.list()
    print(given, terminal, { keys: await work(known, () => own.rotate()), now: signingNow(store) })
  })
  return exitCodes.done
}

function print(
  given: Given,
  terminal: Terminal,
  { keys, now }: { readonly keys: readonly OwnKey[]; readonly now: number },
): void {
  printList(terminal, given, {
    items: keys.map(({ kid, createdAt, until, publicJwk }) => ({
      kid,
      createdAt: new Date(createdAt).toISOString(),
      publishedUntil: until === null ? null : new Date(until).toISOString(),
      publicJwk,
    })),
    columns: [
      { title: 'KEY', tone: 'strong' },
      { title: 'MADE' },
      { title: 'SIGNS' },
      { title: 'PUBLISHED', tone: 'faint' },
    ],
    cells: ({ kid, createdAt, publishedUntil }) => [
      kid,
      age(now - Date.parse(createdAt)),
      publishedUntil === null ? 'yes' : 'beside it',
      publishedUntil === null ? 'yes' : `until ${publishedUntil}`,
    ],
    none: 'There are no keys yet: a server with server.domain makes the first one when it needs it.',
  })
}
