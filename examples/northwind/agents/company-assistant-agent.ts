/** The front desk: the only agent that people talk to. It knows nothing itself and asks its specialists. */
import { defineAgent } from '@witan/core'
import { modelFor } from '../model.ts'
import { companyAssistantScript } from '../scripts/company-assistant.ts'

/** The root. It does not declare `userId`, so its model never sees it; the specialists that do still get it. */
export const companyAssistantAgent = defineAgent({
  id: 'company-assistant-agent',
  name: 'Company assistant',
  description: 'The front desk of the Northwind trading company.',
  model: modelFor('company-assistant-agent', companyAssistantScript),
  instructions: `You are the front desk of the Northwind trading company and talk with one of its employees.
Answer with what your specialists tell you and with nothing else. Ask several at once where a question has several parts.
They know who the employee is: never ask for a name or an id. Be brief.
What the employee wants you to know later, such as a region, you remember, and keep to it.`,
  memory: { archival: 'off' },
  subAgents: [
    {
      agent: 'employee-profile-agent',
      description:
        'Knows the record, manager, team and territories of the employee who asks, and changes their address.',
    },
    { agent: 'orders-agent', description: 'Knows the orders that the employee has taken, and what is in any order.' },
    {
      agent: 'customers-agent',
      description: 'Knows the customers, the employee’s own and all others, and what they have ordered.',
    },
    {
      agent: 'products-agent',
      description: 'Knows products, prices, stock, suppliers and what sells, and asks for reorders.',
    },
  ],
})
