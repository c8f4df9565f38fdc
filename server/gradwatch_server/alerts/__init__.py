"""Telling people elsewhere what was found: webhooks and e-mail.

rule        who is told of what, and how an address is shown
notice      what is said: JSON, Slack, Discord, e-mail
channel     how it is delivered, and what a receiver's answer means
dispatcher  what is due, tried again, given up

What is due stands in the database (`gradwatch_server.store.alerts`), put there with the finding, in one transaction.
"""

from gradwatch_server.alerts.dispatcher import Dispatcher
from gradwatch_server.alerts.rule import CHANNELS, FINDING_KINDS, check_rule, describe_rule

__all__ = ["CHANNELS", "FINDING_KINDS", "Dispatcher", "check_rule", "describe_rule"]
