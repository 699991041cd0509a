/** The script of the agent `council`: three voices for each kind of decision. */
import { askedIn } from './play.ts'
import type { Rule } from '@witan/core/testing'

const views: readonly (readonly [RegExp, string, string, string])[] = [
  [
    /\bdiscount|price|rebate\b/i,
    'It keeps the customer, and it can be tied to a longer term.',
    'It will be the floor of the next talks.',
    'Give it only for two years or more, and in writing.',
  ],
  [
    /\brenew|contract|extend|terminat/i,
    'What is known costs less than what is new.',
    'A long term fixes prices that may rise.',
    'Renew for a year, with a date to look at it again.',
  ],
  [
    /\bhire|hiring|recruit|position\b/i,
    'The work is there already.',
    'It takes half a year until it helps.',
    'Try it with a limited term first.',
  ],
  [
    /\bmove|postpone|delay|wait\b/i,
    'More will be known later.',
    'What waits is often not done.',
    'Name the day on which it is decided at the latest.',
  ],
]

export const councilScript: Rule = (request) => {
  const { message } = askedIn(request)
  const [, pro, contra, advice] = views.find(([about]) => about.test(message)) ?? [
    '',
    'It can be undone.',
    'Nobody has said what it costs.',
    'Write down what would change your mind, then decide.',
  ]
  return `For: ${pro}\nAgainst: ${contra}\nAdvice: ${advice}`
}
