/** `npm run paid-search`: starts both servers and the till, asks the desk twice, and shows what happened on both sides. */
import type { WitanServer } from '@witan/server'
import { clientOf, failing, isPerson, newest, say, serversBeside, untilStopped } from '../federation/shown.ts'
import { ports } from './places.ts'
import { startTill } from './till.ts'

const { serving, witan } = serversBeside(import.meta.url)

async function main(): Promise<void> {
  await serving(['archive', 'office'], await startTill(ports.till), async (archive, office) => {
    say(
      '',
      'office.test     a Witan server: the desk, whom you ask',
      'archive.test    a Witan server: @search@archive.test, which asks for consent and for money',
      `127.0.0.1:${ports.till}  the till, where a person pays; nothing is paid in truth`,
    )
    await ask(office, 'owls')
    say('', 'Again in the same conversation: the consent holds, and only the article has its price.')
    await ask(office, 'bats', await newest(office))
    say('', 'What the archive has of it, in a log of its own:')
    await witan('archive', 'conversations', 'show', await newest(archive))
    if (isPerson) await untilStopped({ office, archive })
  })
}

/** A person pays in a browser and accepts at the terminal; without one both is done here, as it would be typed. */
async function ask(office: WitanServer, words: string, id?: string): Promise<void> {
  process.exitCode = await witan('office', 'run', 'desk', words, ...(id === undefined ? [] : ['--id', id]))
  if (isPerson) return
  const client = clientOf(office)
  const conversation = id ?? (await newest(office))
  for (;;) {
    const { interruptions } = await client.conversations.get(conversation)
    const [open] = interruptions
    if (open?.kind !== 'policy') break
    const [bill] = /http:\/\/\S+/.exec(String(open.policy['message'])) ?? []
    if (bill !== undefined) {
      say('', `$ curl -X POST ${bill}`)
      await fetch(bill, { method: 'POST' })
    }
    await witan('office', 'interruptions', 'answer', open.id, '--approve')
    await client.conversation('desk', { id: conversation }).resume()
  }
  const { runs } = await client.conversations.get(conversation)
  await witan('office', 'conversations', 'show', conversation)
  process.exitCode = runs[0]?.status === 'completed' ? 0 : 1
  client.close()
}

await main().catch(failing('PAID_SEARCH_PORTS=5811,5812,5813'))
