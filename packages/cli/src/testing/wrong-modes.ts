/** Sets of agents whose modes lack what they need, and exactly what the check says of them. */
import { agent, type WrongSet } from './wrong-agents.ts'

export const wrongModes: readonly WrongSet[] = [
  {
    title: 'modes that lack what they need',
    agents: [agent('root', { toolMode: 'force', outputMode: 'tool' })],
    errors: [],
    warnings: [
      'root toolMode  TOOL_MODE_WITHOUT_TOOLS  `root` has `toolMode: "force"` and no tool: its model answers in text. → Give it a tool, or set `toolMode: "auto"`.',
      'root outputMode  OUTPUT_MODE_WITHOUT_SCHEMA  `root` has `outputMode: "tool"` and no output schema: there is no structured answer to request. → Give it an `outputSchema` or an `outputSample`, or take `outputMode` out.',
    ],
  },
]
