/** `npm run federation`: starts the servers of this example, asks the desk one question, and shows what happened on both sides. */
import type { Interruption } from '@witan/protocol'
import type { WitanServer } from '@witan/server'
import { startHotel } from './hotel.ts'
import { ports } from './places.ts'
import { clientOf, failing, isPerson, newest, say, serversBeside, untilStopped } from './shown.ts'

const question = 'I must be in Vienna on Thursday by noon, and stay for a night.'
const { serving, witan } = serversBeside(import.meta.url)

/** What the example answers where nobody sits at a terminal. */
const answers: Partial<Record<Interruption['kind'], readonly string[]>> = {
  question: ['--choose', 'class=second'],
  policy: ['--approve'],
}

async function main(): Promise<void> {
  await serving(['travel', 'office'], await startHotel(ports.hotel), async (travel, office) => {
    introduce()
    await ask(office)
    say('', 'What the agency has of it, in a log of its own:')
    await witan('travel', 'conversations', 'show', await newest(travel))
    if (isPerson) await untilStopped({ office, travel })
  })
}

function introduce(): void {
  say(
    '',
    'office.test         a Witan server: the desk, whom you ask',
    'travel.test         a Witan server: @trains@travel.test, which asks back',
    'hotel.travel.test   an agent of the official A2A SDK, which has a price',
  )
}

/** A person answers at the terminal; without one the commands that answer are run as they would be typed. */
async function ask(office: WitanServer): Promise<void> {
  process.exitCode = await witan('office', 'run', 'desk', question)
  if (isPerson) return
  const client = clientOf(office)
  const id = await newest(office)
  const { interruptions } = await client.conversations.get(id)
  for (const open of interruptions)
    await witan('office', 'interruptions', 'answer', open.id, ...(answers[open.kind] ?? []))
  const ended = await client.conversation('desk', { id }).resume()
  await witan('office', 'conversations', 'show', id)
  process.exitCode = ended.status === 'completed' ? 0 : 1
  client.close()
}

await main().catch(failing('FEDERATION_PORTS=5801,5802,5803'))
