/** The check of a configuration's definitions, together with the stored ones, before any of them is stored. */
import { type Agent, createRuntime } from '@witan/core'
import { baseIn, listedByParents, withWrapped } from '@witan/core/tooling'
import type { CheckReport, StoredAgent } from '@witan/protocol'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import { runtimeOptions } from './open-runtime.ts'

/** Reports all findings at once; saves and runs nothing. Throws the error of the store, or of an invalid tool or model of an agent. */
export async function checkConfig(config: Config, log: Log): Promise<CheckReport> {
  const agents = withWrapped(config.agents)
  const live = agents.filter((agent): agent is Agent => 'data' in agent)
  const options = runtimeOptions(config, log)
  const models = live.flatMap(({ model }) => (model === null ? [] : [[model.id, model] as const]))
  const tools = new Set([...(options.tools ?? []), ...live.flatMap((agent) => agent.tools)])
  const runtime = createRuntime({
    ...options,
    agents: [],
    protocols: [],
    knowledge: [],
    models: { ...Object.fromEntries(models), ...options.models },
    tools: [...tools],
  })
  try {
    await runtime.ready
    const written = agents.map(
      (agent) => ('data' in agent ? (agent as Agent).data : agent) as { readonly id?: unknown },
    )
    const ids = new Set(written.map(({ id }) => id))
    const others: StoredAgent[] = []
    for (let cursor: string | null = null; ; ) {
      const page = await runtime.agents.list({ limit: 200, cursor })
      others.push(...page.items.filter(({ id }) => !ids.has(id)))
      cursor = page.nextCursor
      if (cursor !== null) continue
      const all = listedByParents([...written, ...others], written)
      return await runtime.agents.check(all, config.protocols, config.knowledge.map(baseIn))
    }
  } finally {
    await runtime.close().catch(() => undefined)
  }
}
