/** Everything about the employee who asks, and about nobody else: the database is only ever asked for `$userId`. */
import { defineAgent } from '@witan/core'
import { modelFor } from '../model.ts'
import { employeeProfileScript } from '../scripts/employee-profile.ts'
import { fields } from './schema.ts'
import { userId } from './user-id.ts'

const text = { type: 'string', minLength: 1 }

export const employeeProfileAgent = defineAgent({
  id: 'employee-profile-agent',
  name: 'Employee profile',
  description: 'Knows the employee who asks: record, manager, team, territories, address.',
  model: modelFor('employee-profile-agent', employeeProfileScript),
  instructions: `You know the personnel record of the one employee who asks. Your tools already know who that is.
Answer in one or two sentences, from what the tools return.`,
  parameters: [userId],
  queries: [
    {
      name: 'get-my-record',
      description: 'The employee’s own record.',
      source: 'northwind',
      query: `select first_name || ' ' || last_name as name, title, hire_date, address, city, region, postal_code, country, home_phone, extension
        from employees where id = $userId`,
    },
    {
      name: 'get-my-manager',
      description: 'The person the employee reports to; no row for the one at the top.',
      source: 'northwind',
      query: `select m.first_name || ' ' || m.last_name as name, m.title, m.city, m.extension
        from employees e join employees m on m.id = e.reports_to where e.id = $userId`,
    },
    {
      name: 'get-my-team',
      description: 'The people who report to the employee.',
      source: 'northwind',
      query: `select first_name || ' ' || last_name as name, title, city, extension
        from employees where reports_to = $userId order by last_name`,
    },
    {
      name: 'get-my-territories',
      description: 'The territories that the employee sells in.',
      source: 'northwind',
      query: `select t.name as territory, r.name as region
        from employee_territories e join territories t on t.id = e.territory_id join regions r on r.id = t.region_id
        where e.employee_id = $userId order by t.name`,
    },
  ],
  actions: [
    {
      name: 'ChangeMyAddress',
      description: 'Changes the employee’s home address. The application does it and reports what came of it.',
      parametersSchema: fields({ address: text, city: text, postalCode: text, country: text }),
    },
  ],
})
