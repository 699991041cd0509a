/** The script of the company assistant: passes each part of a question to the specialist it is for. */
import { call, routes } from './routes.ts'

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
].join('\n')

/** Asks several specialists at once where a question has several parts. */
export const companyAssistantScript = routes(
  [
    passTo('employee-profile-agent', /\b(manager|boss|team|reports? to|record|profile|territor|address|extension)/i),
    passTo('orders-agent', /\b(my|latest|open|unshipped|customer'?s?) (\w+ )?orders\b|not shipped|\border \d{5}/i),
    passTo('customers-agent', /\bcustomers?\b(?!'?s? orders)/i),
    passTo('products-agent', /\b(products?|stock|price|costs?|low|reorder|suppl\w+|sell\w*)\b/i),
  ],
  honest,
)
