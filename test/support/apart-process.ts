/** Does the errands of the process that started it, and ends with it. */
import type { Errand, Returned } from './apart.ts'

async function run({ id, module, name, given }: Errand): Promise<Returned> {
  try {
    const { [name]: work } = (await import(module)) as Record<string, (...given: readonly unknown[]) => unknown>
    if (work === undefined) throw new Error(`${module} has no ${name}`)
    return { id, value: await work(...given) }
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

process.on('message', async (errand: Errand) => {
  const returned = await run(errand)
  process.send?.(returned)
})
process.on('disconnect', () => process.exit())
