/** Two processes that work on one store through a pooler. */
import { createRuntime, postgresStore, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { agent } from '../../support/stage.ts'

type Place = Parameters<typeof postgresStore>[0]

/** A runtime with an agent `clerk` that answers `Noted.`. */
async function open(place: Place): Promise<Runtime> {
  const models = { 'play/model': scriptedModel(() => 'Noted.') }
  const runtime = createRuntime({ store: postgresStore(place), models, agents: [agent('clerk')] })
  await runtime.ready
  return runtime
}

/** Begins so many conversations in one process and goes on with each in the other. The different texts that came. */
export async function talkInTwo(place: Place, conversations: number): Promise<readonly string[]> {
  const [first, second] = [await open(place), await open(place)]
  const texts = await Promise.all(
    Array.from({ length: conversations }, async (_, index) => {
      const { run } = await first.start({ agent: 'clerk', id: `chats/${index}`, prompt: 'Keep this.' })
      await run?.result
      return (await (await second.run(`chats/${index}`, { prompt: 'And this.' })).result).text
    }),
  )
  await Promise.all([first.close(), second.close()])
  return [...new Set(texts)]
}
