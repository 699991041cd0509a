/** The script of the company assistant: asks the right specialist for each part of a question, and remembers what it is asked to keep. */
import type { Rule, ScriptedCall } from '@witan/core/testing'
import { type Asked, call, routes } from './routes.ts'

/** Sends the whole message on, and says what came back. */
function passTo(agent: string, match: RegExp) {
  return { match, steps: [({ message }: { readonly message: string }) => call(agent, { message })] }
}

const honest = [
  'I am a script, not a language model, and I have no rule for that. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY to ask anything. I do understand:',
  '- Who is my manager? Who is in my team? What does my record say?',
  '- Change my address to 12 Pike Street, Seattle, 98101, USA',
  '- What are my latest orders? Which of my orders are not shipped? What is in order 10248?',
  '- Who are my best customers? Who are our top customers in Germany?',
  '- How much Chai is in stock? What is running low? Who supplies Tofu? Reorder 40 of Chang',
  '- Remember that my region is Germany. Who are our top customers? What do you remember? Forget my region.',
].join('\n')

/** What somebody says of themselves: `my region is Germany`. */
const wish = /\bmy ([a-z]+) (?:is|are) (.+?)[.!]*$/i
/** What is not to be known any more: `forget my region`. */
const gone = /^forget my ([a-z]+)/i

/** Writes what is said under its word; nothing said erases it. `revision`: the one that an error names, else the one that was read. */
function keep({ message, known }: Asked, revision?: number): ScriptedCall {
  const [, word = '', said = ''] = wish.exec(message) ?? gone.exec(message) ?? []
  const key = word.toLowerCase()
  const before = revision ?? known.find((block) => block.key === key)?.revision
  return call('remember', { key, text: said, ...(before === undefined ? {} : { expected_revision: before }) })
}

/** Since the line of memory was read, this conversation may have written another revision: the error names it. */
function keepAgain(asked: Asked): ScriptedCall | string {
  const revision = /expected_revision (\d+)\./.exec(JSON.stringify(asked.result))?.[1]
  return revision === undefined ? kept(asked) : keep(asked, Number(revision))
}

function kept({ message, result }: Asked): string {
  if (typeof result !== 'object' || result === null || 'error' in result) return 'I could not write that down.'
  const [, word = '', said] = wish.exec(message) ?? gone.exec(message) ?? []
  return said === undefined ? `I have forgotten your ${word}.` : `I shall remember that your ${word} is ${said}.`
}

function recollect({ known }: Asked): string {
  if (known.length === 0) return 'I remember nothing about you.'
  return `I remember about you:\n${known.map(({ key, text }) => `- ${key}: ${text}`).join('\n')}`
}

const remembering = routes(
  [
    { match: /^(?:remember|no, my|forget) /i, steps: [keep, keepAgain, kept] },
    { match: /\bremember\b.*\?/i, steps: [recollect] },
  ],
  honest,
)

/** Asks for the region of the employee, where a question about all customers names none. */
function customersOf({ message, known }: Asked): ScriptedCall {
  const region = known.find(({ key }) => key === 'region')?.text
  const isOpen = /\btop customers\b/i.test(message) && !/\bin (?:the )?[A-Z]/.test(message)
  const said = isOpen && region !== undefined ? message.replace(/\?*$/, ` in ${region}?`) : message
  return call('customers-agent', { message: said })
}

/** Asks several specialists at once where a question has several parts. */
const asking = routes(
  [
    passTo('employee-profile-agent', /\b(manager|boss|team|reports? to|record|profile|territor|address|extension)/i),
    passTo('orders-agent', /\b(my|latest|open|unshipped|customer'?s?) (\w+ )?orders\b|not shipped|\border \d{5}/i),
    { match: /\bcustomers?\b(?!'?s? orders)/i, steps: [customersOf] },
    passTo('products-agent', /\b(products?|stock|price|costs?|low|reorder|suppl\w+|sell\w*)\b/i),
  ],
  honest,
)

const aboutMemory = /^(?:remember (?:that )?my|no, my|forget my) |\bdo you remember\b/i

/** Keeps what a person asks it to remember, and asks its specialists for everything else. */
export const companyAssistantScript: Rule = (request, turn) => {
  const said = request.messages.findLast(({ role }) => role === 'user')?.content ?? ''
  return (aboutMemory.test(said) ? remembering : asking)(request, turn)
}
