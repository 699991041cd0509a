/** Does the errands of the process that started it, and ends with it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Errand, Returned } from './apart.ts'

/** What was rejected in an errand while nobody waited for it. Such an errand fails; those beside it go on. */
const strays = new AsyncLocalStorage<unknown[]>()

async function run({ id, module, name, given }: Errand): Promise<Returned> {
  const stray: unknown[] = []
  try {
    const { [name]: work } = (await import(module)) as Record<string, (...given: readonly unknown[]) => unknown>
    if (work === undefined) throw new Error(`${module} has no ${name}`)
    const value = await strays.run(stray, () => work(...given))
    return stray.length === 0 ? { id, value } : { id, error: stray.map(textOf).join('\n') }
  } catch (error) {
    return { id, error: [error, ...stray.filter((one) => one !== error)].map(textOf).join('\n') }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

process.on('message', async (errand: Errand) => {
  const returned = await run(errand)
  process.send?.(returned)
})
process.on('disconnect', () => process.exit())
process.on('unhandledRejection', (error) => {
  const stray = strays.getStore()
  if (stray === undefined) throw error
  stray.push(error)
})
