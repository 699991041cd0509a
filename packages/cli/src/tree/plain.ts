/** The tree as a log of finished lines, for a pipe: each is printed once and stays true. */
import type { Event } from '@witan/protocol'
import type { Tree, TreeNode } from './fold.ts'
import { pathOf, takeEvent } from './fold.ts'
import type { Line, Span } from './lines.ts'
import { cutLine, detailOf, figuresOf, markOf } from './lines.ts'
import { oneLine } from './width.ts'

/**
 * Takes an event in and gives the lines that are now final: an agent's name when it starts, a tool when it ends, an
 * action when it waits, an agent's last words and figures when it ends.
 */
export function plainLines(tree: Tree, event: Event): Line[] {
  const node = takeEvent(tree, event)
  if (node === null) return []
  if (event.type === 'start' && node.kind === 'agent') return [[indent(node), strong(node), ...gap, ...detail(node)]]
  if (event.type.endsWith('_required')) return [[...head(node), ...gap, ...detail(node), ...gap, waits]]
  if (event.type === 'task') return event.content.status === 'queued' ? [[indent(node, 1), goesOn]] : []
  if (event.type === 'notice')
    return [[indent(node, 1), { text: `! ${oneLine(node.notices.at(-1) ?? '')}`, tone: 'wait' }]]
  const over = (event.type === 'end' || event.type === 'error') && event.kind !== 'model'
  return over ? [node.kind === 'agent' ? endLine(node) : [...head(node), ...gap, ...detail(node), figures(node)]] : []
}

const longestDetail = 120
const waits: Span = { text: 'waits for an answer', tone: 'wait' }
const goesOn: Span = { text: '⇢ works in the background', tone: 'busy' }
const gap: readonly Span[] = [{ text: '  ', tone: 'plain' }]

function endLine(node: TreeNode): Line {
  const words = node.parent === null ? '' : oneLine(node.text)
  const said: readonly Span[] = node.error === null ? [{ text: words, tone: 'quote' }] : detail(node)
  return [...head(node), ...(words === '' && node.error === null ? [] : gap), ...said, figures(node)]
}

/** The log shows what happened, not all of it: `--json` does. */
function detail(node: TreeNode): Line {
  return cutLine(detailOf(node), longestDetail)
}

function head(node: TreeNode): Span[] {
  return [indent(node), markOf(node.state), { text: ' ', tone: 'plain' }, strong(node)]
}

function figures(node: TreeNode): Span {
  const { time, tokens } = figuresOf(node, node.endedAt ?? node.startedAt)
  return { text: `  ${[time, tokens].filter((word) => word !== '').join('  ')}`, tone: 'faint' }
}

/** Where several agents of one depth are at work, a tool's name says whose it is. */
function strong(node: TreeNode): Span {
  const caller = node.parent
  const others = caller?.parent?.children ?? []
  const crowded =
    caller !== null && others.some((other) => other !== caller && other.kind === 'agent' && other.endedAt === null)
  const name = node.kind === 'tool' && crowded ? pathOf(node).split('/').slice(-2).join('/') : node.name
  return { text: oneLine(name), tone: node.kind === 'agent' ? 'strong' : 'plain' }
}

function indent(node: TreeNode, more = 0): Span {
  let depth = more
  for (let at = node.parent; at !== null; at = at.parent) depth += 1
  return { text: '│ '.repeat(depth), tone: 'faint' }
}
