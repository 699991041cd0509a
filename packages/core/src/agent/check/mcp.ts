/** Checks the MCP servers of an agent: each is configured, what it binds is there, and what was pinned fits. */
import type { AgentData, Finding } from '@witan/protocol'
import { type McpUse, mcpUses } from '@witan/protocol/mcp'
import type { WarningFinding } from '@witan/protocol/schemas'
import { nearest } from '../../identity/nearest.ts'
import type { Pausable } from '../../identity/pausable.ts'
import type { McpSettings } from '../../tool/mcp/mcp.ts'
import type { McpSurvey } from '../../tool/mcp/offered.ts'
import { fitsPattern } from '../../tool/mcp/names.ts'
import { listFromLock } from '../../tool/mcp/pins.ts'
import { selectingTools } from '../../tool/mcp/select.ts'
import { errorAt } from './names.ts'

interface At {
  readonly agent: AgentData
  readonly path: string
  readonly use: McpUse
}

/** From how many tokens on the tools of one agent fill much of what its model can read. */
const manyTokens = 8_000

/** Findings about the MCP servers of one agent. */
export function* checkMcp(agent: AgentData, survey: McpSurvey): Pausable<Finding[]> {
  const findings: Finding[] = []
  let characters = 0
  for (const [index, use] of mcpUses(agent).entries()) {
    yield
    const at: At = { agent, path: `mcp.${index}`, use }
    findings.push(...unboundNames(at))
    const settings = survey.settings.get(use.server)
    if (settings === undefined) {
      findings.push(unknownServer(at, [...survey.settings.keys()]))
      continue
    }
    findings.push(...inlineSecrets(at, settings))
    const pinned = survey.lock === null ? null : listFromLock(survey.lock, use.server)
    if (pinned === null) {
      findings.push(unpinned(at))
      continue
    }
    findings.push(...unknownTools(at, pinned.tools))
    const of = {
      use,
      settings,
      list: pinned.tools,
      pins: survey.lock,
      parameters: agent.parameters.map(({ name }) => name),
    }
    const { listed, notices } = yield* selectingTools(of)
    for (const notice of notices) if (notice.code === 'MCP_TOOL_COLLISION') findings.push(collision(at, notice.detail))
    for (const { offeredAs, description, inputSchema } of listed.tools)
      characters += offeredAs.length + description.length + JSON.stringify(inputSchema).length
  }
  const tokens = Math.ceil(characters / 4)
  if (tokens > manyTokens) findings.push(large(agent, tokens))
  return findings
}

function unboundNames({ agent, path, use }: At): Finding[] {
  const known = agent.parameters.map(({ name }) => name)
  return (['bind', 'bindHeaders'] as const).flatMap((key) =>
    Object.entries(use[key]).flatMap(([name, parameter]) => {
      if (known.includes(parameter)) return []
      const near = nearest(parameter, known)
      const detail = `Agent \`${agent.id}\` binds \`${name}\` of \`${use.server}\` to \`${parameter}\`, which it does not declare.`
      const hint = near === null ? 'Declare the parameter, or leave the binding out.' : `Did you mean \`${near}\`?`
      return [errorAt(agent, `${path}.${key}.${name}`, { code: 'MCP_PARAM_UNKNOWN', detail, hint })]
    }),
  )
}

function unknownServer({ agent, path, use }: At, known: readonly string[]): Finding {
  const near = nearest(use.server, known)
  const detail = `Agent \`${agent.id}\` uses the MCP server \`${use.server}\`, which the configuration does not have.`
  const hint = near === null ? 'Add it to `mcpServers` of the configuration.' : `Did you mean \`${near}\`?`
  return errorAt(agent, `${path}.server`, { code: 'MCP_SERVER_UNKNOWN', detail, hint })
}

function collision({ agent, path }: At, detail: string): Finding {
  const hint = 'Name only one of them in `tools`.'
  return errorAt(agent, `${path}.tools`, { code: 'MCP_TOOL_COLLISION', detail, hint })
}

function warning(
  { agent, path }: Pick<At, 'agent' | 'path'>,
  what: Pick<WarningFinding, 'code' | 'detail' | 'hint'>,
): Finding {
  const { code, detail, hint } = what
  return { code, severity: 'warning', agent: agent.id, path, detail, hint }
}

function unpinned(at: At): Finding {
  const { server } = at.use
  const detail = `The tools of \`${server}\` are not pinned: it can change what the model of \`${at.agent.id}\` reads of them.`
  return warning(at, { code: 'MCP_UNPINNED', detail, hint: `Look at them and run \`witan mcp pin ${server}\`.` })
}

function inlineSecrets(at: At, { name, inlineSecrets: paths = [] }: McpSettings): Finding[] {
  return paths.map((path) =>
    warning(at, {
      code: 'MCP_SECRET_INLINE',
      detail: `The configuration of \`${name}\` seems to hold a secret as text, at \`${path}\`.`,
      hint: `Write \`\${NAME}\` there, and put the secret into that variable of the environment.`,
    }),
  )
}

function unknownTools(at: At, tools: readonly { readonly name: string }[]): Finding[] {
  return (at.use.tools ?? []).flatMap((pattern, index) => {
    if (tools.some(({ name }) => fitsPattern(pattern, name))) return []
    const detail = `No pinned tool of \`${at.use.server}\` fits \`${pattern.slice(0, 64)}\`.`
    const near = nearest(
      pattern,
      tools.map(({ name }) => name),
    )
    const hint =
      near === null ? `\`witan mcp diff ${at.use.server}\` shows what it has now.` : `Did you mean \`${near}\`?`
    return [warning({ ...at, path: `${at.path}.tools.${index}` }, { code: 'MCP_TOOL_UNKNOWN', detail, hint })]
  })
}

function large(agent: AgentData, tokens: number): Finding {
  const detail = `The tools of MCP servers that \`${agent.id}\` has take some ${tokens} tokens of each request.`
  const hint = 'Name the tools that it needs in `tools`, or give them to several agents.'
  return warning({ agent, path: 'mcp' }, { code: 'MCP_TOOLS_LARGE', detail, hint })
}
