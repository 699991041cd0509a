/** Checks the edges to agents on other servers: what the environment has goes only where whoever runs this server lets it. */
import type { AgentData, Finding } from '@witan/protocol'
import { type MaySend, notSent } from '../bearers.ts'
import { remotesOf } from '../remote-agent.ts'
import { errorAt } from './names.ts'

/** An error for each edge that names a variable which may not be sent to its server. */
export function checkRemotes(agent: AgentData, maySend: MaySend): Finding[] {
  return remotesOf(agent).flatMap((edge, index) => {
    if (maySend(edge)) return []
    const path = `remotes.${index}.bearerEnv`
    return [errorAt(agent, path, { code: 'AGENT_INVALID', ...notSent(edge) })]
  })
}
