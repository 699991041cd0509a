/** The agents of the stub server: a hierarchy of three levels, and one agent whose every text is an attack. */
import type { AgentInput, StoredAgent } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'

/** What a page must never run, one per way in. */
export const payloads = [
  '<img src=x onerror="window.__attacked=1">',
  '<script>window.__attacked=1</script>',
  '"><svg onload="window.__attacked=1">',
  '[click](javascript:window.__attacked=1)',
  '<iframe srcdoc="<script>parent.__attacked=1</script>"></iframe>',
  '![x](https://attacker.example/pixel.png)',
] as const

/** The agents as they are stored. */
export const cannedAgents: readonly StoredAgent[] = [
  stored({
    id: 'company-assistant-agent',
    name: 'Company assistant',
    description: 'Answers questions about the company and the people in it, and passes on what others know better.',
    model: 'scripted/northwind',
    instructions: 'Help the employee.',
    parameters: [
      { name: 'userId', description: 'Who is asking.', sendToModel: false, policy: 'forbidModelGeneration' },
      { name: 'country', description: 'Where the person works.' },
    ],
    subAgents: [{ agent: 'employee-profile-agent' }, { agent: 'policy-agent' }],
  }),
  stored({
    id: 'employee-profile-agent',
    name: 'Employee profile',
    description: 'Knows the record of one employee: manager, team, address, holidays.',
    model: 'scripted/northwind',
    instructions: 'Answer from the record.',
    parameters: [
      { name: 'userId', description: 'Whose record it is.', sendToModel: false, policy: 'forbidModelGeneration' },
      { name: 'fields', type: 'string[]', description: 'Which fields to read.' },
    ],
    subAgents: [{ agent: 'user-info-agent' }],
  }),
  {
    ...stored({
      id: 'policy-agent',
      name: 'Policies',
      description: 'Quotes the house rules.',
      model: 'local/some-model',
      instructions: 'Quote, never invent.',
      parameters: [{ name: 'country', description: 'Whose law applies.' }],
      subAgents: [{ agent: 'user-info-agent' }],
    }),
    warnings: [
      {
        code: 'PARAM_UNUSED',
        severity: 'warning',
        agent: 'policy-agent',
        path: 'parameters[0]',
        detail: 'The parameter "country" is declared, but no tool of "policy-agent" reads it.',
        hint: 'Use it in the instructions or a query, or remove it.',
      },
    ],
  },
  stored({
    id: 'user-info-agent',
    name: 'User info',
    description: 'Reads and changes what the company knows about a user.',
    model: 'scripted/northwind',
    instructions: 'Change what is asked, nothing else.',
    parameters: [{ name: 'userId', description: 'Which user.', policy: 'forbidModelGeneration' }],
    actions: [{ name: 'ChangeUserName', description: 'Changes the shown name.' }],
    approvals: [{ tool: 'ChangeUserName', when: { properties: { name: { maxLength: 3 } } } }],
  }),
  stored({
    id: 'zz-hostile-agent',
    name: payloads[0],
    description: payloads.join(' '),
    model: payloads[1],
    instructions: payloads[2],
    parameters: [{ name: 'note', description: payloads.join(' ') }],
    subAgents: [{ agent: 'user-info-agent', description: payloads[3] }],
  }),
]

function stored(agent: AgentInput): StoredAgent {
  const modelKind = agent.model?.startsWith('scripted/') ? 'script' : 'language'
  return {
    ...agentSchema.parse(agent),
    revision: 3,
    source: 'code',
    warnings: [],
    modelKind,
    by: null,
    via: null,
    at: null,
  }
}
