/** The agent that asks for the weather as a tape says, over each way in which a model's marks come back. */
import {
  type Agent,
  aiSdkModel,
  defineAgent,
  defineTool,
  type FunctionTool,
  type Model,
  openaiCompatible,
} from '@witan/core'
import { z } from 'zod'
import { deepseek, geminiChat } from './chat-completions.ts'
import { type Peer, peers } from './peers.ts'
import type { Dialect } from './tape.ts'

export const prompt = 'How is the weather in Oslo, Rome and Paris?'

/** A vendor that refuses a request without its marks, and our model for it. */
export interface Way {
  readonly dialect: Dialect
  model(baseUrl: string): Model
}

function bySdk({ dialect, model }: Peer): Way {
  return { dialect, model: (baseUrl) => aiSdkModel(model(baseUrl)) }
}

function byOwn(dialect: Dialect): Way {
  return { dialect, model: (baseUrl) => openaiCompatible({ baseUrl, model: 'thinker' }) }
}

const isStrict = ({ dialect }: Peer) => dialect.name === 'Anthropic' || dialect.name === 'Gemini 3'

export const ways: readonly Way[] = [...peers.filter(isStrict).map(bySdk), byOwn(deepseek), byOwn(geminiChat)]

/** The agent; `look` answers its calls. */
export function weatherAgent(
  model: Model,
  look: (city: string) => Promise<string>,
): { agent: Agent; tool: FunctionTool } {
  const tool = defineTool({
    name: 'weather',
    description: 'The weather of a city.',
    parameters: z.object({ city: z.string() }),
    effect: 'none',
    execute: ({ city }) => look(city),
  })
  return { agent: defineAgent({ id: 'root', instructions: 'You are root.', model, tools: ['weather'] }), tool }
}
