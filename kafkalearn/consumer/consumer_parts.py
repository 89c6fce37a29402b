"""What the parts of one consumer share."""

from dataclasses import dataclass

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.metadata import Metadata
from kafkalearn.consumer.consumer_config import ConsumerConfig
from kafkalearn.consumer.consumer_interceptors import ConsumerInterceptors
from kafkalearn.consumer.consumer_network_client import ConsumerNetworkClient
from kafkalearn.consumer.subscription_state import SubscriptionState


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerParts:
    """Surroundings, settings, network, knowledge of the cluster, subscriptions, interceptors.

    cluster_metadata: named so because `metadata` is what a member joins with.
    """

    context: ClientContext
    config: ConsumerConfig
    client: ConsumerNetworkClient
    cluster_metadata: Metadata
    subscriptions: SubscriptionState
    interceptors: ConsumerInterceptors
