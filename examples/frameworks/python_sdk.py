"""An agent of the Python SDK of A2A, over JSON-RPC and HTTP+JSON: it asks one question, then answers in two pieces."""
import sys

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

port = int(sys.argv[1]) if len(sys.argv) > 1 else 9001
binding = sys.argv[2] if len(sys.argv) > 2 else "JSONRPC"
url = f"http://127.0.0.1:{port}"


class Library(AgentExecutor):
    async def execute(self, context, event_queue):
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            question = new_text_message("Which floor?", context_id=context.context_id, task_id=context.task_id)
            await updater.requires_input(question)
            return
        floor = context.get_user_input()
        await updater.start_work()
        for index, words in enumerate(["The book is on floor ", f"{floor}."]):
            part = [new_text_part(words)]
            await updater.add_artifact(part, artifact_id="answer", append=index > 0, last_chunk=index == 1)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="Library",
    description="Knows where books stand.",
    version="1",
    supported_interfaces=[AgentInterface(url=url, protocol_binding=binding, protocol_version="1.0")],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="find", name="Find", description="Finds a book.", tags=["books"])],
)
handler = DefaultRequestHandler(agent_executor=Library(), task_store=InMemoryTaskStore(), agent_card=card)
routes = [
    *create_agent_card_routes(card),
    *create_jsonrpc_routes(handler, rpc_url="/"),
    *create_rest_routes(handler),
]
uvicorn.run(Starlette(routes=routes), port=port, log_level="warning")
