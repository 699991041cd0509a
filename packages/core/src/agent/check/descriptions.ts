/** Warns of agents that a model cannot choose well between: without a description, or with one that reads like another's [K13]. */
import type { AgentData, Finding } from '@witan/protocol'
import { type Edge, edgesOf, takesControlFrom } from '@witan/protocol/edges'
import { type AgentSet, reachable } from './graph.ts'
import type { Pausable } from '../../identity/pausable.ts'

/** An agent that a model chooses, as its model reads it. */
interface Choice {
  /** Its id; of an agent on another server its address. */
  readonly target: string
  /** Where the definition lists it. */
  readonly path: string
  readonly text: string
  readonly words: ReadonlySet<string>
}

/**
 * One warning for each delegate, target and peer without a description, and for each whose description reads like an earlier one's. Two
 * read alike if they have the same words, or if nine of ten of all their words are the same; order, case and marks do not count.
 */
export function* checkDescriptions(agent: AgentData, agents: AgentSet): Pausable<Finding[]> {
  const choices = yield* choicesOf(agent, agents)
  const findings = choices.filter(({ words }) => words.size === 0).map((choice) => missing(agent, choice))
  for (const [later, earlier] of yield* alike(choices.filter(({ words }) => words.size > 0)))
    findings.push(reading(agent, later, earlier))
  return findings
}

/** The agents that a model chooses between, each once for each way to reach it, and those further down that it may hand over to. A responder only writes back, and no model calls a step. */
function* choicesOf(agent: AgentData, agents: AgentSet): Pausable<Choice[]> {
  const choices = new Map<string, Choice>()
  for (const edge of edgesOf(agent)) {
    const choice = choiceOf(edge, agent, agents)
    const key = `${edge.kind} ${choice?.target}`
    if (choice === null || choices.has(key)) continue
    yield
    choices.set(key, { ...choice, words: wordsOf(choice.text) })
  }
  return [...choices.values(), ...(yield* furtherDown(agent, agents, [...choices.values()]))]
}

/** As many as a list of an agent may have; a roster has no room for more. */
const mostFurtherDown = 200

/** With reach `tree`, the agents below this one that no other way leads to, the nearest first: its model reads their own descriptions. */
function* furtherDown(agent: AgentData, agents: AgentSet, known: readonly Choice[]): Pausable<Choice[]> {
  if (agent.transferReach !== 'tree' || agent.disableTransfer) return []
  const ids = new Set([agent.id, ...known.map(({ target }) => target)])
  const choices: Choice[] = []
  for (const target of reachable(agent, agents)) {
    if (ids.has(target.id) || !takesControlFrom(target, agent.id)) continue
    if (choices.length === mostFurtherDown) break
    yield
    const text = target.description
    choices.push({ target: target.id, path: 'transferReach', text, words: wordsOf(text) })
  }
  return choices
}

function choiceOf(edge: Edge, agent: AgentData, agents: AgentSet): Omit<Choice, 'words'> | null {
  if (edge.target === 'remote') return { target: edge.remote, path: edge.at, text: edge.description }
  const isChosen = edge.tool !== null && edge.speaks?.role !== 'responder' && edge.agent !== agent.id
  const target = isChosen ? agents.get(edge.agent) : undefined
  if (target === undefined) return null
  return { target: edge.agent, path: edge.agentAt, text: edge.description || target.description }
}

/** The most characters of a description that are compared. */
const longest = 2000

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .slice(0, longest)
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [],
  )
}

/** The most pairs that are compared word by word for one agent. */
const mostPairs = 20_000

/**
 * Pairs that read alike: each choice with the first of the earlier ones. Two sets of which nine of ten words are the same share one of
 * the first words of both, the rarest first; only such pairs are compared.
 */
function* alike(choices: readonly Choice[]): Pausable<(readonly [Choice, Choice])[]> {
  const counts = new Map<string, number>()
  for (const { words } of choices) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const byWord = new Map<string, Choice[]>()
  const same = new Map<string, Choice>()
  const found: (readonly [Choice, Choice])[] = []
  let pairs = 0
  for (const choice of choices) {
    yield
    const words = [...choice.words].sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : 1))
    const key = words.join(' ')
    let other = same.get(key)
    for (const word of words.slice(0, Math.floor(words.length / 10) + 1)) {
      const known = byWord.get(word) ?? []
      for (const one of known) {
        if (other !== undefined || pairs >= mostPairs) break
        pairs += 1
        if (pairs % 100 === 0) yield
        if (isNear(choice.words, one.words)) other = one
      }
      byWord.set(word, known)
      known.push(choice)
    }
    if (other !== undefined && other.target !== choice.target) found.push([choice, other])
    if (!same.has(key)) same.set(key, choice)
  }
  return found
}

function isNear(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  let common = 0
  for (const word of one) if (other.has(word)) common += 1
  return common * 10 >= (one.size + other.size - common) * 9
}

function missing({ id }: AgentData, { target, path }: Choice): Finding {
  return {
    code: 'DESCRIPTION_MISSING',
    severity: 'warning',
    agent: id,
    path,
    detail: `\`${target}\` has no description: the model of \`${id}\` does not learn what it is for.`,
    hint: `Describe \`${target}\`, in the agent or where \`${id}\` lists it: short, and what only it does.`,
  }
}

function reading({ id }: AgentData, { target, path }: Choice, { target: other }: Choice): Finding {
  return {
    code: 'DESCRIPTIONS_ALIKE',
    severity: 'warning',
    agent: id,
    path,
    detail: `The descriptions of \`${target}\` and \`${other}\` read alike: the model of \`${id}\` cannot tell them apart.`,
    hint: 'Say in each what only this agent does.',
  }
}
